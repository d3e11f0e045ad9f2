import type { FastifyInstance } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { LICENSE, PRODUCT_NAME } from '../../contract/identity.ts';
import { jsonRoute } from './json-route.ts';

/** What is known of the build. */
export interface BuildInfo {
  /** The package's version. */
  readonly version: string;
  /**
   * When it was built, as ISO 8601.
   * @default not shown
   */
  readonly time?: string;
}

/** Serves what this is: product, build, license and runtime. */
export function infoRoute(app: FastifyInstance, endpoint: ManagementEndpoint, build: BuildInfo): void {
  const body = {
    app: { name: PRODUCT_NAME, version: build.version, license: LICENSE.name },
    build: { version: build.version, artifact: PRODUCT_NAME, name: PRODUCT_NAME, ...timeOf(build) },
    license: LICENSE,
    runtime: { name: 'Node.js', version: process.versions.node },
  };
  jsonRoute(app, endpoint.infoPath, () => ({ body }));
}

const timeOf = ({ time }: BuildInfo): { time?: string } => (time === undefined ? {} : { time });
