# The formula of a tap: packaging/fill puts in the version, the checksum and the address.
class Tallylight < Formula
  include Language::Python::Virtualenv

  desc "Truthful light on every terminal tab that runs a coding agent"
  homepage "@ADDRESS@"
  url "@ADDRESS@/releases/download/v@VERSION@/tallylight-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "python@3.14"

  resource "attrs" do
    url "https://files.pythonhosted.org/packages/source/a/attrs/attrs-26.1.0.tar.gz"
    sha256 "d03ceb89cb322a8fd706d4fb91940737b6642aa36998fe130a9bc96c985eff32"
  end

  resource "psutil" do
    url "https://files.pythonhosted.org/packages/source/p/psutil/psutil-7.2.2.tar.gz"
    sha256 "0746f5f8d406af344fd547f1c8daa5f5c33dbc293bb8d6a16d80b4bb88f59372"
  end

  def install
    virtualenv_install_with_resources
  end

  def caveats
    <<~TEXT
      To set up kitty and WezTerm for your user, now and after each update:
        tally setup
      Before you remove this formula:
        tally setup --uninstall
    TEXT
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tally --version")
    assert_match "shell-init", shell_output("#{bin}/tally --help")
  end
end
