# A flake of the checkout that it lies in: nix run 'git+ADDRESS?dir=packaging/nix' -- demo
{
  description = "Truthful light on every kitty and WezTerm tab that runs a coding agent";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.callPackage ./package.nix { };
      });
      homeManagerModules.default = import ./home-manager.nix self;
    };
}
