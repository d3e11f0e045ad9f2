import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { outdatedFiles, staleFiles } from './generate/generated-files.ts';

const HELP = `Usage: npm run generate [-- --check]

Writes what follows from the schemas and the catalogue of metrics: contract/schemas/*.json, deployment/generated/props.ts, deployment/generated/kubernetes-types.ts, docs/api/*.md, and the tables in docs/.

  --check   writes nothing; exits with 1 when a file is out of date
`;

const root = join(import.meta.dirname, '..');

function write(): void {
  for (const { path, content } of outdatedFiles(root)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    console.log(`wrote ${path}`);
  }
  for (const path of staleFiles(root)) {
    rmSync(join(root, path));
    console.log(`removed ${path}`);
  }
}

function check(): void {
  const outdated = [...outdatedFiles(root).map(({ path }) => path), ...staleFiles(root)];
  for (const path of outdated) {
    console.error(`${path} is out of date: run npm run generate and commit what it writes`);
  }
  process.exitCode = outdated.length === 0 ? 0 : 1;
}

function main(): void {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) {
    console.log(HELP);
  } else if (values.check === true) {
    check();
  } else {
    write();
  }
}

try {
  main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
