import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import type { SecretSource } from '../deployment/secrets.ts';

type External = NonNullable<SecretSource['externalSecret']>;
type Sealed = NonNullable<SecretSource['sealedSecret']>;

function externalSecret(scope: Construct, workload: CheckedWorkload, name: string, external: External): ApiObject {
  return new ApiObject(scope, `external-secret-${name}`, {
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: objectMetadata(workload, name),
    spec: {
      refreshInterval: external.refreshInterval,
      secretStoreRef: { kind: external.storeKind, name: external.store },
      target: { name, creationPolicy: 'Owner' },
      dataFrom: [{ extract: { key: external.remoteKey } }],
    },
  });
}

/** How the controller is told for what the values were encrypted. */
const SCOPE_ANNOTATION: Readonly<Record<Sealed['scope'], Readonly<Record<string, string>> | undefined>> = {
  strict: undefined,
  'namespace-wide': { 'sealedsecrets.bitnami.com/namespace-wide': 'true' },
  'cluster-wide': { 'sealedsecrets.bitnami.com/cluster-wide': 'true' },
};

function sealedSecret(scope: Construct, workload: CheckedWorkload, name: string, sealed: Sealed): ApiObject {
  const metadata = objectMetadata(workload, name);
  const annotations = SCOPE_ANNOTATION[sealed.scope];
  const scoped = annotations === undefined ? metadata : { ...metadata, annotations };
  return new ApiObject(scope, `sealed-secret-${name}`, {
    apiVersion: 'bitnami.com/v1alpha1',
    kind: 'SealedSecret',
    metadata: scoped,
    spec: { encryptedData: sealed.encryptedData, template: { metadata: scoped } },
  });
}

/** Objects from which operators make the Secrets that consumer.yaml gives a source for. */
export function madeSecrets(scope: Construct, workload: CheckedWorkload): ApiObject[] {
  const { database, kafka } = workload.file;
  return [database, database.owner, kafka].flatMap((each) => {
    if (each?.externalSecret !== undefined) {
      return [externalSecret(scope, workload, each.existingSecret, each.externalSecret)];
    }
    return each?.sealedSecret === undefined
      ? []
      : [sealedSecret(scope, workload, each.existingSecret, each.sealedSecret)];
  });
}
