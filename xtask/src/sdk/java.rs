//! The client for Java, on the HTTP client of the JDK.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{copy, openapi_generator};
use crate::command::{command, run};
use crate::demo::Demo;
use crate::tools::python::SDK;

pub fn generate(root: &Path, folder: &Path) -> anyhow::Result<()> {
    let packages = "invokerPackage=com.lendpay.partner,apiPackage=com.lendpay.partner.api,\
                    modelPackage=com.lendpay.partner.model,groupId=com.lendpay,artifactId=lendpay-partner";
    let options = format!("library=native,openApiNullable=false,hideGenerationTimestamp=true,{packages}");
    openapi_generator(root, "java", &options, folder)
}

pub fn test(root: &Path, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    let program = folder.join("program");
    copy(root, "java", &program)?;
    let mut sources = Vec::new();
    java_files(&folder.join("src/main/java"), &mut sources)?;
    java_files(&program, &mut sources)?;
    // Jackson comes from the generator, which is a jar with everything that it needs in it.
    let jar = generator_jar(root)?;
    let list = sources.iter().map(|path| format!("\"{}\"\n", path.display())).collect::<String>();
    fs::write(folder.join("sources.txt"), list).context("cannot write the list of sources")?;
    // Off are: "processing", since javac would name each annotation that nobody processes, and "deprecation", since the
    // generator's Jackson is newer than the one that its client is written for.
    let options = ["-Xlint:all,-processing,-deprecation", "-Werror", "-d", "classes", "-classpath"];
    run(command(folder, "javac", &options).arg(&jar).arg("@sources.txt"))?;
    let mut path = jar.into_os_string();
    path.push(":classes");
    let mut program = command(folder, "java", &["-classpath"]);
    program.arg(path).arg("Main");
    program.envs(demo.to_try()?);
    run(&mut program)
}

fn java_files(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        if path.is_dir() {
            java_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "java") {
            files.push(path);
        }
    }
    Ok(())
}

fn generator_jar(root: &Path) -> anyhow::Result<PathBuf> {
    let python = SDK.find_or_install(root)?.join("python");
    let script = "import openapi_generator_cli as g, os; print(os.path.join(os.path.dirname(g.__file__), 'openapi-generator.jar'))";
    let path = crate::command::output(&mut command(root, python, &["-c", script]));
    path.map(PathBuf::from).context("the generator's jar cannot be found")
}
