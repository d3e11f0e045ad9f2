import { App } from 'cdk8s';
import { ConsumerChart } from '../../charts/consumer-chart.ts';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';
import { exampleConsumer } from './example-consumer.ts';
import type { PodSpec } from './pod-security.ts';

export const VERSION = PRODUCT_VERSION;

/** A Kubernetes object as it is written, as far as tests look into it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly [key: string]: unknown;
}

/** A Deployment as far as tests look into it. */
export interface DeploymentSpec {
  readonly replicas: number;
  readonly revisionHistoryLimit: number;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly strategy: unknown;
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: Readonly<Record<string, unknown>> & PodSpec;
  };
}

/** All objects of the consumer's chart. */
export function renderedConsumer(changes: object = {}): Manifest[] {
  const chart = new ConsumerChart(new App(), 'consumer', { consumer: exampleConsumer(changes) });
  return chart.toJson();
}

/** The one object of a kind; none or several of them fail the test. */
export function only(manifests: readonly Manifest[], kind: string): Manifest {
  const [found, ...more] = manifests.filter((manifest) => manifest.kind === kind);
  if (found === undefined || more.length > 0) {
    throw new Error(`${found === undefined ? 'no' : 'more than one'} ${kind}`);
  }
  return found;
}

export const deploymentSpec = (manifests: readonly Manifest[]): DeploymentSpec =>
  only(manifests, 'Deployment')['spec'] as DeploymentSpec;

/** The Pod's one container, as plain data. */
export function onlyContainer(manifests: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const { containers } = deploymentSpec(manifests).template.spec;
  if (containers.length !== 1 || containers[0] === undefined) {
    throw new Error(`${containers.length} containers`);
  }
  return containers[0] as unknown as Readonly<Record<string, unknown>>;
}
