/** `npm run image`: builds app/Dockerfile under the name that the manifests refer to. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';
import { describeProblems } from '../../settings/schema/problem.ts';
import { localBase, missingBase, usualBase } from './base-platforms.ts';
import {
  buildArguments,
  buildForPlatforms,
  CONTAINER_ENGINES,
  type ContainerEngine,
  commitReference,
  findContainerEngine,
  type ImageBuild,
  imageToBuild,
} from './image-build.ts';
import { imageFacts, sourceDateEpoch } from './image-facts.ts';
import { bundleConsumer } from './layer/bundle-consumer.ts';
import { SOFTWARE_BILL_FILE, softwareBill } from './layer/software-bill.ts';

const HELP = `Builds the consumer's image under the name that dist/ refers to, and under a second one, VERSION-COMMIT, which no manifest
has. Writes what is in it to build/image/sbom.cdx.json.

  npm run image -- [options]

  --environment NAME   the image of environments/NAME.yaml (left out: consumer.yaml's)
  --platform LIST      such as linux/amd64,linux/arm64: one bundle, a manifest list (left out: this machine's platform)
  --node-image IMAGE   base image (left out: the one in app/Dockerfile)
  --local-base         asks no image registry: makes the base image from Debian's and npm's packages
                       (podman, debootstrap, root), where podman does not have it yet
  --help               this text

It takes podman where there is one, else docker. From the environment it takes SOURCE_DATE_EPOCH (seconds since 1970),
the date of all that is in the image (left out: the commit's), and NODE_EXTRA_CA_CERTS, certificates that npm trusts.
`;

const NO_ENGINE = `Neither ${CONTAINER_ENGINES.join(' nor ')} is installed (looked for in PATH), and one of them has to build the image.
Install podman (Debian: apt-get install podman) or docker, or let a CI job build app/Dockerfile.
`;

const BILL_FOLDER = join('build', 'image');
const BILL = join(BILL_FOLDER, SOFTWARE_BILL_FILE);

const PLATFORM = /^linux\/[a-z0-9]+$/;

const OPTIONS = {
  environment: { type: 'string', default: '' },
  platform: { type: 'string' },
  'node-image': { type: 'string' },
  'local-base': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

function fail(text: string): number {
  process.stderr.write(text);
  return 1;
}

function readCommandLine(argv: readonly string[]) {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    const platforms = values.platform?.split(',') ?? [];
    if (platforms.some((platform) => !PLATFORM.test(platform))) {
      return `--platform: "${values.platform}" is not allowed; allowed is linux/ARCHITECTURE, or several of them with commas between`;
    }
    return values['local-base'] && values['node-image'] !== undefined
      ? '--local-base makes the base image that app/Dockerfile names, so --node-image has no meaning beside it'
      : { ...values, platforms };
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs a program and shows its output; gives whether it succeeded. */
const succeeds = (program: string, args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'inherit' }).status === 0;

async function runEngine(engine: ContainerEngine, build: ImageBuild): Promise<number> {
  const command = buildArguments(engine, build);
  const platforms = build.platforms?.length ?? 0;
  const run = (args: readonly string[]): boolean => succeeds(engine, args);
  process.stdout.write(`${engine} ${command.join(' ')}\n`);
  if (!(engine === 'podman' && platforms > 0 ? buildForPlatforms(build, run) : run(command))) {
    return fail(`${engine} failed, its message is above: ${build.reference} was not built.\n`);
  }
  const second = commitReference(build.reference, build.facts);
  if (second !== undefined && !run(['tag', build.reference, second])) {
    return fail(`${engine} failed, its message is above: ${build.reference} was built, and has no name ${second}.\n`);
  }
  mkdirSync(BILL_FOLDER, { recursive: true });
  writeFileSync(
    BILL,
    softwareBill(process.cwd(), {
      created: build.facts.CREATED,
      packages: await bundleConsumer(),
      type: 'application',
    }),
  );
  process.stdout.write(`Wrote ${BILL}\n`);
  const push =
    engine === 'podman' && platforms > 1
      ? `manifest push --all ${build.reference} docker://${build.reference}`
      : `push ${build.reference}`;
  process.stdout.write(
    `Built ${[build.reference, second ?? []].flat().join(' and ')}. Push it with: ${engine} ${push}\n`,
  );
  return 0;
}

async function build(argv: readonly string[]): Promise<number> {
  const options = readCommandLine(argv);
  if (typeof options === 'string') {
    return fail(`${options}\n\n${HELP}`);
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const image = imageToBuild(process.cwd(), options.environment, PRODUCT_VERSION);
  if (!image.ok) {
    return fail(`No image was built.\n\n${describeProblems(image.problems)}\n`);
  }
  const isLocal = options['local-base'];
  const engine = findContainerEngine(process.env['PATH']);
  if (engine === undefined) {
    return fail(NO_ENGINE);
  }
  if (isLocal && !(engine === 'podman' && succeeds('bash', ['dev/image/base.sh']))) {
    return fail('--local-base needs podman, and dev/image/base.sh to succeed: no image was built.\n');
  }
  const nodeImage = isLocal ? localBase() : options['node-image'];
  const base = nodeImage ?? usualBase();
  const missing = options.platforms.length === 0 ? undefined : missingBase(engine, base, options.platforms, isLocal);
  if (missing !== undefined) {
    return fail(`${missing}\n`);
  }
  return runEngine(engine, {
    platforms: options.platforms,
    reference: image.value,
    nodeImage,
    facts: imageFacts(process.cwd(), process.env),
    epoch: sourceDateEpoch(process.cwd(), process.env),
    certificates: process.env['NODE_EXTRA_CA_CERTS'],
    isLocal,
  });
}

try {
  process.exitCode = await build(process.argv.slice(2));
} catch (error) {
  process.exitCode = fail(`${(error as Error).message}\n`);
}
