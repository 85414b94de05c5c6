// Written by `tally hooks install`; `tally hooks remove` takes it away again.
// It hands the events of a session to `tally hook`, one after the other, and never disturbs the agent: whatever
// fails, if tallylight is no longer there for one, fails in silence.
import { spawn } from "node:child_process"

const TALLY = "@TALLY@"
const AGENT = "@AGENT@"
const MODES = ["serve", "web", "acp", "run", "attach"]
const LIMITS = ["free_tier_limit", "account_rate_limit"]
const MOST = 64 // events that wait for their turn

export const Tallylight = async ({ directory }) => {
  if (process.argv.slice(1, 4).some((word) => MODES.includes(word))) return {}
  const parents = new Map() // subagents: session -> session of the agent
  const titles = new Map()
  const waiting = []
  let running = false

  const next = () => {
    const item = waiting.shift()
    running = item !== undefined
    if (!running) return
    let over = false
    const end = () => {
      if (!over) {
        over = true
        next()
      }
    }
    try {
      const child = spawn(TALLY, ["hook", AGENT, item.event], { stdio: ["pipe", "ignore", "ignore"] })
      child.on("error", end)
      child.on("exit", end)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(item.payload))
    } catch {
      end()
    }
  }

  const send = (event, session, more) => {
    if (waiting.length >= MOST) return
    const parent = parents.get(session)
    const payload = { session_id: parent ?? session, cwd: directory, session_title: titles.get(parent ?? session) }
    if (parent) Object.assign(payload, { agent_id: session, agent_type: titles.get(session) })
    waiting.push({ event, payload: { ...payload, ...more } })
    if (!running) next()
  }

  const handle = (type, properties) => {
    const info = properties.info
    const session = properties.sessionID ?? info?.id
    if (type === "session.created" || type === "session.updated") {
      if (info?.parentID && parents.size < 1000) parents.set(info.id, info.parentID)
      if (info?.title && titles.size < 1000) titles.set(info.id, info.title)
    } else if (type === "session.status") {
      const { type: kind, action, message } = properties.status ?? {}
      if (kind === "retry" && LIMITS.includes(action?.reason)) send("session.limited", session, { message })
      else if (kind === "busy" || kind === "retry") send("session.busy", session)
    } else if (type === "session.idle") {
      send(parents.has(session) ? "session.deleted" : type, session)
    } else if (type === "session.error") {
      const { name: error, data } = properties.error ?? {}
      send(type, session, { error, status: data?.statusCode, message: data?.message })
    } else if (type === "permission.asked") {
      const command = properties.metadata?.command ?? properties.patterns?.join(" ")
      send(type, session, { tool_name: properties.permission, tool_input: { command } })
    } else if (type === "question.asked") {
      send(type, session, { message: properties.questions?.[0]?.question })
    } else if (["permission.replied", "question.replied", "question.rejected"].includes(type)) {
      send(type === "question.rejected" ? "question.replied" : type, session)
    } else if (type === "server.instance.disposed") {
      send("server.disposed", session)
    }
  }

  return {
    event: async ({ event }) => {
      try {
        handle(event.type, event.properties ?? {})
      } catch {
        // An event of a shape we do not know.
      }
    },
    "tool.execute.before": async (input, output) => {
      try {
        const { command, filePath, pattern, url } = output?.args ?? {}
        const what = { command, file_path: filePath, pattern, url }
        send("tool.before", input.sessionID, { tool_name: input.tool, tool_input: what })
      } catch {
        // As above.
      }
    },
  }
}
