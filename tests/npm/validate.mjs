// Goal:   the validator that editors use, ajv, in its dialect of 2020-12, takes the printed schema,
//         accepts every file of tests/config/good with it, and refuses every one of
//         tests/config/bad but for those that no schema can refuse (tests/config/beyond_a_schema.txt)
//         and those that its reader makes right (tests/npm/beyond_this_reader.txt).
// Method: the schema is compiled in ajv's strict mode, but for what it says of unions of types; the
//         files are read by the YAML package as editors read them. What cannot be read is refused.
//
//     node validate.mjs SCHEMA ROOT
import fs from "node:fs";
import path from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import YAML from "yaml";

const [schemaFile, root] = process.argv.slice(2);
const config = path.join(root, "tests", "config");
const schema = JSON.parse(fs.readFileSync(schemaFile, "utf8"));
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
const validate = ajv.compile(schema);

function read(file) {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(fs.readFileSync(file));

    return YAML.parse(text, { version: "1.2", merge: true, uniqueKeys: true, maxAliasCount: -1 });
}

// Why a file is refused; null when it is accepted.
function refusal(file) {
    try {
        return validate(read(file)) ? null : ajv.errorsText(validate.errors);
    } catch (error) {
        return String(error.message).split("\n")[0];
    }
}

function files(folder) {
    return fs.readdirSync(path.join(config, folder))
        .filter((name) => name.endsWith(".yaml")).sort()
        .map((name) => path.join(config, folder, name));
}

// The names in a list; lines that begin with # say why they are there.
function names(file) {
    return fs.readFileSync(file, "utf8").split("\n")
        .filter((line) => line && !line.startsWith("#"))
        .flatMap((line) => line.trim().split(/\s+/));
}

const beyond = new Set([...names(path.join(config, "beyond_a_schema.txt")),
                        ...names(path.join(root, "tests", "npm", "beyond_this_reader.txt"))]);
const wrong = [];
const good = files("good");
const bad = files("bad");

for (const file of good) {
    const why = refusal(file);

    if (why)
        wrong.push(`${file}: is refused: ${why}`);
}
for (const file of bad) {
    const name = path.basename(file, ".yaml");

    // A reader may refuse what ours allows to be read, so one of these may be refused as well.
    if (!beyond.has(name) && refusal(file) === null)
        wrong.push(`${file}: is accepted`);
}
for (const name of beyond)
    if (!bad.includes(path.join(config, "bad", `${name}.yaml`)))
        wrong.push(`the lists: there is no bad file ${name}`);
if (good.length < 20 || bad.length < 150)
    wrong.push(`only ${good.length} good and ${bad.length} bad files`);

for (const line of wrong)
    console.error(line);
console.log(`schema-check: ajv ${good.length} good and ${bad.length} bad files, ` +
            `${beyond.size} beyond it, ${wrong.length} wrong`);
process.exit(wrong.length ? 1 : 0);
