import { arch, release, type } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { LICENSE, PRODUCT_GROUP, PRODUCT_NAME } from '../../contract/identity.ts';
import type { ProductBuild } from '../configuration/product-build.ts';
import { jsonRoute } from './actuator-route.ts';
import type { EndpointSources } from './endpoints.ts';
import { processInfo } from './process-info.ts';

/** What the info is made from. */
export type InfoSources = Pick<EndpointSources, 'endpoint' | 'build' | 'settings' | 'metrics'>;

/** Serves what this is: what the settings say of it, build, license, runtime and, where asked for, system and process. */
export function infoRoute(app: FastifyInstance, { endpoint, build, settings, metrics }: InfoSources): void {
  const { info, management } = settings;
  const known = {
    app: { name: PRODUCT_NAME, version: build.version, license: LICENSE.name },
    ...info,
    ...gitOf(build),
    build: {
      version: build.version,
      artifact: PRODUCT_NAME,
      license: LICENSE.name,
      name: PRODUCT_NAME,
      ...(build.time === undefined ? {} : { time: build.time }),
      group: PRODUCT_GROUP,
    },
    license: LICENSE,
    runtime: { name: 'Node.js', version: process.versions.node },
    ...(management.info.os.enabled && { os: { name: type(), version: release(), arch: javaArch(arch()) } }),
  };
  const processPart = () => (management.info.process.enabled ? { process: processInfo(metrics.reader) } : {});
  jsonRoute(app, endpoint.infoPath, () => ({ body: { ...known, ...processPart() } }));
}

/** As Spring Boot shows it: the commit by its first seven digits. */
function gitOf({ branch, commit, commitTime }: ProductBuild): object {
  return commit === undefined
    ? {}
    : {
        git: {
          ...(branch !== undefined && { branch }),
          commit: { id: commit.slice(0, 7), ...(commitTime !== undefined && { time: commitTime }) },
        },
      };
}

const JAVA_ARCH: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'aarch64' };

/** The processor's name as a JVM has it. */
const javaArch = (name: string): string => JAVA_ARCH[name] ?? name;
