# A module of home-manager: it does what `tally setup` does, by its own means, so that `tally setup` is not needed.
#
#   imports = [ tallylight.homeManagerModules.default ];
#   programs.tallylight = { enable = true; settings.notify.quiet = [ "22:00-07:00" ]; };
flake:
{
  config,
  lib,
  pkgs,
  ...
}:

let
  cfg = config.programs.tallylight;
  share = "${cfg.package}/share/tallylight";
  toml = pkgs.formats.toml { };
in
{
  options.programs.tallylight = {
    enable = lib.mkEnableOption "lights on tabs that run coding agents";
    package = lib.mkOption {
      type = lib.types.package;
      default = flake.packages.${pkgs.stdenv.hostPlatform.system}.default;
      description = "The package to use.";
    };
    settings = lib.mkOption {
      inherit (toml) type;
      default = { };
      description = "Settings of config.toml; `tally config default` explains each.";
    };
    keys = lib.mkOption {
      type = lib.types.attrsOf lib.types.str;
      default = {
        "ctrl+shift+y" = "jump.py";
        "ctrl+shift+i" = "agents.py";
        "ctrl+shift+a>p" = "panel.py";
        "ctrl+shift+a>f" = "fork.py";
        "ctrl+shift+a>s" = "snooze.py";
      };
      description = "Keys of kitty, and the kitten each starts, with its options.";
    };
    sessions = lib.mkEnableOption "the lights of tmux and GNU Screen, as a user unit of systemd";
  };

  config = lib.mkIf cfg.enable {
    home.packages = [ cfg.package ];
    xdg.configFile."tallylight/config.toml" = lib.mkIf (cfg.settings != { }) {
      source = toml.generate "config.toml" cfg.settings;
    };
    xdg.configFile."wezterm/tallylight".source = "${share}/wezterm/tallylight";
    programs.kitty.extraConfig = lib.concatStringsSep "\n" (
      [ "watcher ${share}/kittens/tally_watcher.py" ]
      ++ lib.mapAttrsToList (key: kitten: "map ${key} kitten ${share}/kittens/${kitten}") cfg.keys
    );
    systemd.user.services.tallylight-sessions = lib.mkIf cfg.sessions {
      Unit.Description = "Lights of agents in tmux and GNU Screen";
      Service = {
        ExecStart = "${lib.getExe cfg.package} host sessions";
        Restart = "on-failure";
      };
      Install.WantedBy = [ "default.target" ];
    };
  };
}
