"""
Web Push: messages to browsers that are not open, by the push service of each (RFC 8030,
https://w3c.github.io/push-api/).

`telling` decides on messages, by the rules of notifications. `sealing` encrypts and signs them, and is the only module
that needs the extra. `endpoints` decides which addresses get anything; `sender` sends, on threads of its own;
`subscriptions` keeps the subscribed browsers. Start reading with `routes`, which connects them.
"""
