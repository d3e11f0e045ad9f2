import type { ContainerEngine } from './container-engine.ts';

/** What there is to say about one build. */
export interface ImageBuild {
  /** Name that the image gets. */
  readonly reference: string;
  /** Base image. @default the one in app/Dockerfile */
  readonly nodeImage?: string | undefined;
}

/** Arguments that have the engine build app/Dockerfile from the repository's root. */
export function buildArguments(engine: ContainerEngine, { reference, nodeImage }: ImageBuild): string[] {
  return [
    'build',
    // podman's own format has no place for HEALTHCHECK and drops it
    ...(engine === 'podman' ? ['--format', 'docker'] : []),
    '--file',
    'app/Dockerfile',
    '--tag',
    reference,
    ...(nodeImage === undefined ? [] : ['--build-arg', `NODE_IMAGE=${nodeImage}`]),
    '.',
  ];
}
