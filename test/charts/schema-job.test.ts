import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { parseCommandLine } from '../../app/commands/command-line.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { manifestProblems } from '../manifests/manifest-problems.ts';
import { consumerDocument } from './example-consumer.ts';
import { type PodSpec, restrictedViolations } from './pod-security.ts';
import { deploymentSpec, type Manifest, only, onlyContainer, renderedConsumer } from './rendered-consumer.ts';

const OWNER = { migrate: 'job', owner: { existingSecret: 'pg-owner' } };
const withJob = (changes: object = {}) =>
  renderedConsumer({ database: OWNER, secrets: { as: 'environment' }, ...changes });

interface JobSpec {
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: PodSpec & {
      readonly restartPolicy: string;
      readonly containers: readonly (Record<string, unknown> & { readonly args: readonly string[] })[];
    };
  };
}

const job = only(withJob(), 'Job');
const { template } = job['spec'] as JobSpec;
const [container] = template.spec.containers;

const setting = (objects: readonly Manifest[]): unknown => {
  const data = only(objects, 'ConfigMap')['data'] as { readonly 'application.yml': string };
  return (parse(data['application.yml']) as { database?: { migrate?: boolean } }).database?.migrate;
};

test('the Job is what it was', () => {
  const objects = withJob({ image: { tag: '1.2.3' } });
  expect(objects.filter(({ metadata }) => metadata.name.startsWith('orders-consumer-schema'))).toMatchSnapshot();
});

describe('who migrates', () => {
  test('is the consumer itself unless said otherwise', () => {
    expect(renderedConsumer().map(({ kind }) => kind)).not.toContain('Job');
    expect(setting(renderedConsumer())).toBeUndefined();
  });

  test('is a Job when asked for, and the consumer then only checks', () => {
    expect(setting(withJob())).toBe(false);
  });

  test('is somebody else with never, and the consumer only checks', () => {
    const objects = renderedConsumer({ database: { migrate: 'never' } });
    expect(objects.map(({ kind }) => kind)).not.toContain('Job');
    expect(setting(objects)).toBe(false);
  });
});

describe('annotations of the Job', () => {
  const annotations = { 'argocd.argoproj.io/sync-options': 'Prune=false', 'example.com/owner': 'DBA' };
  const annotated = only(withJob({ database: { ...OWNER, job: { annotations } } }), 'Job');

  test('are on the Job alone, and make no new one: a cluster takes them for the Job that is there', () => {
    expect(annotated.metadata).toEqual({ ...job.metadata, annotations });
    expect(annotated['spec']).toEqual(job['spec']);
    expect(manifestProblems(annotated)).toEqual([]);
  });

  test('are refused where there is no Job', () => {
    const checked = checkConsumerFile(consumerDocument({ database: { job: { annotations } } }));
    expect(checked).toMatchObject({ ok: false, problems: [{ path: 'database.job.annotations' }] });
  });
});

describe('the Job', () => {
  test('runs a command that the consumer has', () => {
    expect(container?.args).toEqual(['migrate']);
    expect(parseCommandLine(container?.args ?? [])).toMatchObject({ command: { name: 'migrate' }, problems: [] });
  });

  test("runs the Deployment's image with its configuration, and no probe", () => {
    const consumer = onlyContainer(withJob());
    expect(container?.['image']).toBe(consumer['image']);
    expect(container?.['volumeMounts']).toEqual(consumer['volumeMounts']);
    expect(template.spec.volumes).toEqual(deploymentSpec(withJob()).template.spec.volumes);
    expect(container).not.toHaveProperty('livenessProbe');
  });

  test("logs in as the owner, whose credentials the Deployment's Pods never see", () => {
    expect(container?.['env']).toContainEqual({
      name: 'DATABASE_PASSWORD',
      valueFrom: { secretKeyRef: { name: 'pg-owner', key: 'password', optional: true } },
    });
    expect(JSON.stringify(container?.['env'])).not.toContain('orders-consumer-database');
    expect(JSON.stringify(deploymentSpec(withJob()))).not.toContain('pg-owner');
  });

  test("names the owner's Secret where PostgreSQL refuses the owner", () => {
    const value = 'Secret pg-owner, keys url, user, password';
    expect(container?.['env']).toContainEqual({ name: 'DATABASE_CREDENTIALS_FROM', value });
  });

  test('logs in as the owner with files as well', () => {
    const objects = withJob({ secrets: { as: 'files' } });
    const { volumes } = (only(objects, 'Job')['spec'] as JobSpec).template.spec;
    expect(JSON.stringify(volumes)).toContain('pg-owner');
    expect(JSON.stringify(volumes)).not.toContain('orders-consumer-database');
    expect(JSON.stringify(deploymentSpec(objects))).not.toContain('pg-owner');
  });

  test('has another name for each content, because it cannot be changed, within 63 characters', () => {
    const longest = 'a'.repeat(45);
    const names = [
      {},
      { image: { tag: '9.9.9' } },
      { application: { database: { schema: 'other' } } },
      { name: longest },
    ].map((changes) => only(withJob(changes), 'Job').metadata.name);
    expect(new Set(names).size).toBe(4);
    expect(names[0]).toMatch(/^orders-consumer-schema-[0-9a-f]{10}$/);
    expect(names[3]).toHaveLength(63);
    expect(only(withJob({ replicas: 5 }), 'Job').metadata.name).toBe(names[0]);
  });

  test("is in no selector of the consumer's", () => {
    const { selector } = deploymentSpec(withJob());
    expect(template.metadata.labels).not.toMatchObject(selector.matchLabels);
  });

  test('may reach name servers and PostgreSQL only', () => {
    const policies = withJob().filter(({ kind }) => kind === 'NetworkPolicy');
    const own = policies.find(({ metadata }) => metadata.name === 'orders-consumer-schema');
    const spec = own?.['spec'] as {
      podSelector: { matchLabels: object };
      policyTypes: unknown;
      egress: { ports: { port: number }[] }[];
    };
    expect(template.metadata.labels).toMatchObject(spec.podSelector.matchLabels);
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(spec).not.toHaveProperty('ingress');
    expect(spec.egress.map(({ ports }) => ports.at(-1)?.port)).toEqual([53, 5432]);
    expect(withJob({ networkPolicy: { enabled: false } }).map(({ kind }) => kind)).not.toContain('NetworkPolicy');
  });

  test('is tried again, and not for ever', () => {
    expect(job['spec']).toMatchObject({ backoffLimit: 6, activeDeadlineSeconds: 600 });
    expect(template.spec.restartPolicy).toBe('OnFailure');
  });

  test('holds Pod Security "restricted"', () => {
    expect(restrictedViolations(template.spec)).toEqual([]);
  });
});

describe('what does not fit together', () => {
  test.each<[string, object, string]>([
    ['a Job without an owner', { migrate: 'job' }, 'database.owner.existingSecret'],
    ['an owner without a Job', { owner: { existingSecret: 'pg-owner' } }, 'database.owner'],
  ])('%s is refused', (_, database, path) => {
    const checked = checkConsumerFile(consumerDocument({ database }));
    expect(checked.ok ? [] : checked.problems.map((problem) => problem.path)).toEqual([path]);
  });
});
