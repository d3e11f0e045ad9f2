import type { ContainerEngine } from './container-engine.ts';
import type { ImageFacts } from './image-facts.ts';

/** What there is to say about one build. */
export interface ImageBuild {
  /** Name that the image gets. */
  readonly reference: string;
  /** Base image. @default the one in app/Dockerfile */
  readonly nodeImage?: string | undefined;
  readonly facts: ImageFacts;
  /** Date of all that is in the image, in seconds since 1970. */
  readonly epoch: number;
  /** PEM file of certificates that npm has to trust as well while it installs. @default none */
  readonly certificates?: string | undefined;
  /** Whether the base image has to be there already, and no registry is asked for it. @default false */
  readonly isLocal?: boolean;
}

function enginesOwn(engine: ContainerEngine, { epoch, isLocal }: ImageBuild): string[] {
  if (engine === 'docker') {
    // BuildKit takes the date from there; it has no option against pulling, and pulls only what is missing
    return ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`];
  }
  // podman's own format has no place for HEALTHCHECK and drops it; the host's network is there where a bridge's is not
  const own = ['--format', 'docker', '--network', 'host', '--timestamp', String(epoch)];
  return [...own, ...(isLocal ? ['--pull-never'] : [])];
}

/** Arguments that have the engine build app/Dockerfile from the repository's root. */
export function buildArguments(engine: ContainerEngine, build: ImageBuild): string[] {
  const { reference, nodeImage, facts, certificates } = build;
  const buildArgs = { ...(nodeImage === undefined ? {} : { NODE_IMAGE: nodeImage }), ...facts };
  return [
    'build',
    ...enginesOwn(engine, build),
    ...(certificates === undefined ? [] : ['--secret', `id=certificates,src=${certificates}`]),
    ...Object.entries(buildArgs).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...['--file', 'app/Dockerfile', '--tag', reference, '.'],
  ];
}
