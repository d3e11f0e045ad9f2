import { randomBytes } from 'node:crypto';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { imageReference } from '../deployment/image.ts';
import { Protocol } from './cluster/check-results.ts';
import { Kubectl } from './cluster/kubectl.ts';
import { applied, appliedAgain, changeApplied, deleted, withoutDifference } from './cluster/manifest-checks.ts';
import { type ClusterOptions, readClusterRequest } from './cluster/options.ts';
import {
  endpointsAnswer,
  podDeleted,
  podNames,
  podsScraped,
  prometheusRuns,
  rolledOut,
  rulesEvaluated,
} from './cluster/pod-checks.ts';
import { eachRecordOnce, recordsFlow, type Site, startSite } from './cluster/record-checks.ts';
import {
  loadImage,
  rendered,
  SECRET,
  type Surroundings,
  subjectDocument,
  subjectEndpoint,
  subjectWorkload,
} from './cluster/tested-consumer.ts';
import { exitCodeOf } from './run/interruption.ts';
import type { RunFolder } from './run/run-folder.ts';
import { Screen } from './run/screen.ts';

const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** Stand for Kafka and PostgreSQL where no Pod runs. */
const NOWHERE = {
  broker: 'kafka.invalid:9092',
  databasePort: 5432,
  databaseUrl: 'postgresql://database.invalid/orders',
};

interface Scene {
  readonly run: RunFolder;
  readonly options: ClusterOptions;
  readonly protocol: Protocol;
  readonly kubectl: Kubectl;
  readonly around: Surroundings;
  readonly own: CheckedWorkload;
  /** Only where Pods can run. */
  readonly site: Site | undefined;
  /** What `kubectl apply -f` takes, before and after the change. */
  readonly folder: string;
  readonly changed: string;
}

/**
 * Tests the manifests in a namespace of its own, which is removed in the end.
 *
 * @throws ExplainedError when it cannot begin: no cluster answers, Kafka or PostgreSQL does not start
 */
async function runClusterTest(
  run: RunFolder,
  options: ClusterOptions,
  protocol: Protocol,
  screen: Screen,
): Promise<void> {
  const namespace = `stream-consumer-test-${randomBytes(4).toString('hex')}`;
  const kubectl = new Kubectl(namespace);
  const resources = await kubectl.text('api-resources', '--api-group=monitoring.coreos.com', '--output', 'name');
  const { host, loadImage: load } = options;
  const site =
    host === undefined || load === undefined ? undefined : await startSite(run, host, (text) => screen.line(text));
  const around = {
    namespace,
    broker: site?.broker ?? NOWHERE.broker,
    databasePort: site === undefined ? NOWHERE.databasePort : Number(new URL(site.databaseUrl).port),
    hasOperator: resources.includes('servicemonitors'),
  };
  const document = subjectDocument(around, 'info');
  const folder = await rendered(run, document);
  const changed = await rendered(run, subjectDocument(around, 'debug'));
  const own = subjectWorkload(document);
  run.beforeClose(async () => {
    await kubectl.run(['delete', 'namespace', namespace, '--ignore-not-found', '--wait=false']);
  });
  await testManifests({ run, options, protocol, kubectl, around, own, site, folder, changed });
}

async function testManifests(scene: Scene): Promise<void> {
  const { protocol, kubectl, around, site, folder } = scene;
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: around.namespace, labels: RESTRICTED },
  });
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET, namespace: around.namespace },
    stringData: { url: site?.databaseUrl ?? NOWHERE.databaseUrl },
  });
  if (!around.hasOperator) {
    protocol.skip("the operator's custom resources", 'the cluster has no CRDs of the Prometheus Operator');
  }
  if (site !== undefined && !(await imageIsThere(scene))) {
    return;
  }
  const isApplied = await protocol.check('applied server-side, strictly, to a restricted namespace', () =>
    applied(kubectl, folder),
  );
  if (!isApplied) {
    return;
  }
  if (site === undefined) {
    protocol.skip('Pods, records, scrape', 'CLUSTER_LOAD_IMAGE and CLUSTER_HOST are needed for it');
    await testSecondApply(scene);
    await protocol.check('one change applied', () => changeApplied(kubectl, folder, scene.changed));
  } else {
    await testPods(scene, site);
  }
  await protocol.check('deleted', () => deleted(kubectl, [folder, scene.changed]));
}

function imageIsThere({ run, own, options, protocol }: Scene): Promise<boolean> {
  const { loadImage: command = '' } = options;
  return protocol.check('image loaded', () => loadImage(run, imageReference(own.file.image, own.version), command));
}

async function testSecondApply({ protocol, kubectl, folder }: Scene): Promise<void> {
  await protocol.check('applied again: unchanged', () => appliedAgain(kubectl, folder));
  await protocol.check('kubectl diff', () => withoutDifference(kubectl, folder));
}

async function testPods(scene: Scene, site: Site): Promise<void> {
  const { protocol, kubectl, own, folder, changed } = scene;
  const { workload: name } = own.names;
  await site.producer.start();
  if (!(await protocol.check('Pods ready by their own probes', () => rolledOut(kubectl, name)))) {
    await site.producer.stop();
    return;
  }
  await testSecondApply(scene);
  await protocol.check('records flow from Kafka to PostgreSQL', () => recordsFlow(site));
  await testInterfaces(scene);
  await protocol.check('one change applied, under load', () => changeApplied(kubectl, folder, changed));
  await protocol.check('rolling update, under load', () => rolledOut(kubectl, name));
  const [pod = ''] = await podNames(kubectl, own.selector);
  await protocol.check('kubectl delete pod, under load', () => podDeleted(kubectl, name, pod));
  await protocol.check('records flow after it', () => recordsFlow(site));
  await site.producer.stop();
  await protocol.check('each record once, over all of it', () => eachRecordOnce(site));
}

async function testInterfaces({ run, options, protocol, kubectl, around, own }: Scene): Promise<void> {
  const pods = await podNames(kubectl, own.selector);
  for (const [index, pod] of pods.entries()) {
    await protocol.check(`HTTP endpoints of Pod ${index + 1}, forwarded`, () =>
      endpointsAnswer(run, around.namespace, pod, subjectEndpoint(own)),
    );
  }
  const { scrape } = options;
  if (scrape === undefined || !around.hasOperator) {
    protocol.skip('scraped by a Prometheus', 'CLUSTER_SCRAPE and the operator are needed for it');
    return;
  }
  if (await protocol.check('a Prometheus', () => prometheusRuns(kubectl, around.namespace, scrape))) {
    await protocol.check('it scrapes the Pods by the ServiceMonitor', () => podsScraped(pods));
    await protocol.check('it computes the alerts of the PrometheusRule', () => rulesEvaluated());
  }
}

/** `npm run test:cluster`: what the manifests do in a real cluster. */

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const request = readClusterRequest(args, process.env);
  if (request.kind === 'test') {
    return test(request.options, new Screen(process.stdout));
  }
  process.stdout.write(request.stdout ?? '');
  process.stderr.write(request.stderr ?? '');
  return request.code;
}

async function test(options: ClusterOptions, screen: Screen): Promise<number> {
  const protocol = new Protocol(screen);
  return exitCodeOf(screen, async (run) => {
    await runClusterTest(run, options, protocol, screen);
    screen.line(`${protocol.failures} failed, ${protocol.skipped} skipped`);
    return protocol.failures === 0;
  });
}
