# The command, and in share/tallylight what kitty and WezTerm load, laid out as `tally setup` does it.
{ lib, python3Packages }:

let
  source = builtins.readFile ../../shared/tallylight/__init__.py;
  version = builtins.head (builtins.match ".*__version__ = \"([0-9.]+)\".*" source);
in
python3Packages.buildPythonApplication {
  pname = "tallylight";
  inherit version;
  pyproject = true;
  src = ../..;

  build-system = [ python3Packages.hatchling python3Packages.shtab python3Packages.argparse-manpage ];
  dependencies = [
    python3Packages.attrs
    python3Packages.psutil
  ];

  postInstall = ''
    package=$out/${python3Packages.python.sitePackages}/tallylight
    share=$out/share/tallylight
    mkdir -p $share/lib
    cp -r $package/_kittens $share/kittens
    cp -r $package/_wezterm $share/wezterm
    ln -s $package $share/lib/tallylight
    ln -s ${python3Packages.attrs}/${python3Packages.python.sitePackages}/{attr,attrs} $share/lib/
    ln -s ${python3Packages.psutil}/${python3Packages.python.sitePackages}/psutil $share/lib/
  '';

  pythonImportsCheck = [ "tallylight.cli.main" ];

  meta = {
    description = "Truthful light on every kitty and WezTerm tab that runs a coding agent";
    license = lib.licenses.asl20;
    mainProgram = "tally";
    platforms = lib.platforms.unix;
  };
}
