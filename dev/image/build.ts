/** `npm run image`: builds app/Dockerfile under the name that the manifests refer to. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeProblem } from '../../contract/problem.ts';
import { buildArguments } from './build-arguments.ts';
import { CONTAINER_ENGINES, findContainerEngine } from './container-engine.ts';
import { imageToBuild } from './image-to-build.ts';

const HELP = `Builds the consumer's image under the name that dist/ refers to.

  npm run image -- [options]

  --environment NAME   the image of environments/NAME.yaml (left out: consumer.yaml's)
  --node-image IMAGE   base image (left out: the one in app/Dockerfile)
  --help               this text

It takes podman where there is one, else docker. Push it with: podman push REFERENCE
`;

const NO_ENGINE = `Neither ${CONTAINER_ENGINES.join(' nor ')} is installed (looked for in PATH), and one of them has to build the image.
Install podman (Debian: apt-get install podman) or docker, or let a CI job build app/Dockerfile.
`;

const OPTIONS = {
  environment: { type: 'string', default: '' },
  'node-image': { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

function fail(text: string): number {
  process.stderr.write(text);
  return 1;
}

function readCommandLine(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS }).values;
  } catch (error) {
    return (error as Error).message;
  }
}

function build(argv: readonly string[]): number {
  const options = readCommandLine(argv);
  if (typeof options === 'string') {
    return fail(`${options}\n\n${HELP}`);
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const packageFile = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(packageFile) as { version: string };
  const image = imageToBuild(process.cwd(), options.environment, version);
  if (!image.ok) {
    return fail(`No image was built.\n\n${image.problems.map(describeProblem).join('\n')}\n`);
  }
  const engine = findContainerEngine(process.env['PATH']);
  if (engine === undefined) {
    return fail(NO_ENGINE);
  }
  const command = buildArguments(engine, { reference: image.value, nodeImage: options['node-image'] });
  process.stdout.write(`${engine} ${command.join(' ')}\n`);
  const { status } = spawnSync(engine, command, { stdio: 'inherit' });
  if (status !== 0) {
    return fail(`${engine} ended with ${status ?? 'a signal'}: ${image.value} was not built.\n`);
  }
  process.stdout.write(`Built ${image.value}. Push it with: ${engine} push ${image.value}\n`);
  return 0;
}

process.exitCode = build(process.argv.slice(2));
