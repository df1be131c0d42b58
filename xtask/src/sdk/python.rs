//! The clients for Python, and the wheel of one.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::packages::{self, Trial};
use super::{DOCUMENT, copy, openapi_generator};
use crate::service::Demo;
use crate::tools::python::{FLIT, HTTPX, PythonTool, SDK};

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let version = packages::version(shell)?;
    let options = format!("packageName=lendpay_partner,projectName=lendpay-partner,packageVersion={version}");
    openapi_generator(shell, "python", &options, folder)
}

pub fn generate_httpx(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    copy(shell, "python-httpx", folder)?;
    let program = HTTPX.find_or_install(shell)?.join("openapi-python-client");
    let package = folder.join("lendpay_partner_httpx");
    let generate = cmd!(shell, "{program} generate --path {DOCUMENT} --output-path {package} --meta none --overwrite");
    Ok(generate.arg("--fail-on-warning").arg("--config").arg(folder.join("generator.yaml")).run()?)
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    copy(shell, "python", folder)?;
    check_and_run(shell, folder, demo, &SDK, "lendpay_partner")
}

pub fn test_httpx(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    check_and_run(shell, folder, demo, &HTTPX, "lendpay_partner_httpx")
}

/// Strict, by its mypy.ini.
fn check_and_run(shell: &Shell, folder: &Path, demo: &Demo, tool: &PythonTool, package: &str) -> anyhow::Result<()> {
    shell.copy_file("xtask/sdk/scenario.py", folder)?;
    let programs = tool.find_or_install(shell)?;
    let (mypy, python) = (programs.join("mypy"), programs.join("python"));
    let _there = shell.push_dir(folder);
    cmd!(shell, "{mypy} main.py {package}").run()?;
    Ok(cmd!(shell, "{python} main.py").envs(demo.to_try()?).run()?)
}

/// Makes the wheel.
pub fn make_package(shell: &Shell, folder: &Path, version: &str) -> anyhow::Result<PathBuf> {
    let module = folder.join("lendpay_partner");
    cmd!(shell, "cp --recursive target/sdk/python/lendpay_partner/. {module}").run()?;
    let python = FLIT.find_or_install(shell)?.join("python");
    let packages = shell.current_dir().join(packages::FOLDER);
    cmd!(shell, "{python} -m flit_core.wheel --outdir {packages} {folder}").run()?;
    Ok(packages.join(format!("lendpay_partner-{version}-py3-none-any.whl")))
}

/// In a new virtual environment, with what the wheel asks for at the versions of our tools.
pub fn test_package(shell: &Shell, wheel: &Path, project: &Path, trial: &Trial<'_>) -> anyhow::Result<()> {
    copy(shell, "python/project", project)?;
    let environment = project.join("environment");
    cmd!(shell, "python3 -m venv --without-pip {environment}").run()?;
    let python = environment.join("bin/python");
    let installer = FLIT.find_or_install(shell)?.join("python");
    let pins = ["sdk", "webhooks"].map(|tool| format!("--constraint=xtask/tools/{tool}.txt"));
    let install =
        cmd!(shell, "{installer} -m pip --python {python} install --disable-pip-version-check --quiet {pins...}");
    install.arg(wheel).run()?;
    let (mypy, root) = (SDK.find_or_install(shell)?.join("mypy"), shell.current_dir());
    let (rules, cache, main) =
        (root.join("xtask/sdk/python/mypy.ini"), root.join("target/sdk/mypy"), project.join("main.py"));
    let options = ["--config-file", "--cache-dir", "--python-executable"].into_iter().zip([&rules, &cache, &python]);
    {
        // What a wheel installs is not checked; what it was made from is. The project has no stubs.
        let _parts = shell.push_dir("target/sdk/package-parts/python");
        let check = options.fold(cmd!(shell, "{mypy}"), |check, (name, value)| check.arg(name).arg(value));
        check.args(["--disable-error-code", "import-untyped", "lendpay_partner/partner.py"]).arg(main).run()?;
    }
    let tried = trial.to_try(shell, project, "package-python")?;
    let _there = shell.push_dir(project);
    Ok(cmd!(shell, "{python} main.py").envs(tried).run()?)
}
