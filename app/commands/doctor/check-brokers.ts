import type { Settings } from '../../../settings/settings.ts';
import { messageOf } from '../../kafka/client/kafka-errors.ts';
import { BrokerConnections, closeBroker } from '../../kafka/fetch/broker-connections.ts';
import { clusterApart } from '../../kafka/fetch/cluster-apart.ts';
import { createKafkaClient, shareByClients } from '../../kafka/kafka-client.ts';
import { askMetadata, type ClusterMetadata } from '../../kafka/kafkajs/cluster-requests.ts';
import type { LoginRefusal } from '../../kafka/logins/login-refusal.ts';
import { SILENT } from '../../kafka/topic-reader.ts';
import { systemClock } from '../../stream/ports/clock.ts';
import { away, type Finding, LATE, ok, type Said, type Subject, skipped, warning, within, wrong } from './finding.ts';

type KafkaSettings = Settings['kafka'];

/** A connection that fails is not tried again: the line has its reason. */
const ASKED_ONCE = 0;

/** How an address took a connection: by an answer, by a refusal, or by none of both. */
type Answer =
  | { readonly metadata: ClusterMetadata }
  | { readonly refusal: LoginRefusal }
  | { readonly failure: string };

/** What the brokers say of themselves. */
export interface KafkaReach {
  readonly findings: readonly Finding[];
  /** Addresses that let the consumer in, and that the brokers advertise. */
  readonly accepting: readonly string[];
  /** Topics that the user may describe. */
  readonly topics: readonly string[];
}

async function askAddress(kafka: KafkaSettings, address: string): Promise<Answer> {
  let refusal: LoginRefusal | undefined;
  const current = () => ({ ...kafka, brokers: [address] });
  const ignore = (): void => undefined;
  const shared = shareByClients(current, SILENT, ignore, (refused) => {
    refusal = refused;
  });
  const connections = new BrokerConnections(clusterApart(createKafkaClient(shared, ASKED_ONCE)), systemClock);
  const colon = address.lastIndexOf(':');
  const place = { nodeId: 0, host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
  const broker = await connections.apart(place);
  try {
    await broker.connect();
    return { metadata: await askMetadata(broker, []) };
  } catch (error) {
    return refusal === undefined ? { failure: messageOf(error) } : { refusal };
  } finally {
    closeBroker(broker);
    connections.close();
  }
}

async function askAll(
  kafka: KafkaSettings,
  addresses: readonly string[],
): Promise<readonly (readonly [string, Answer])[]> {
  return Promise.all(
    addresses.map(async (address): Promise<readonly [string, Answer]> => {
      const answer = await within(askAddress(kafka, address));
      return [address, answer ?? { failure: LATE }];
    }),
  );
}

const addressesOf = ({ brokers }: ClusterMetadata): readonly string[] =>
  brokers.map(({ host, port }) => `${host}:${port}`);

/**
 * Connects to each bootstrap address, and to each that the brokers advertise, as the consumer does: with its TLS and
 * its login.
 *
 * As for a consumer, only advertised addresses count once they are known, and a refusal counts where no address
 * accepts.
 */
export async function checkBrokers(kafka: KafkaSettings): Promise<KafkaReach> {
  const seeds = await askAll(kafka, kafka.brokers);
  const listed = seeds.flatMap(([, answer]) => ('metadata' in answer ? [answer.metadata] : []));
  const advertised = [...new Set(listed.flatMap(addressesOf))];
  const further = await askAll(
    kafka,
    advertised.filter((address) => !kafka.brokers.includes(address)),
  );
  const answers = [...seeds, ...further];
  const counted = answers.filter(([address]) => advertised.length === 0 || advertised.includes(address));
  const accepting = counted.flatMap(([address, answer]) => ('metadata' in answer ? [address] : []));
  const isLetIn = accepting.length > 0;
  const findings = answers.map(([address, answer]) => brokerFinding(kafka, { address, answer, isLetIn }));
  return {
    findings: [
      ...findings,
      loginFinding(
        kafka,
        counted.map(([, answer]) => answer),
        isLetIn,
      ),
    ],
    accepting,
    topics: listed.flatMap(({ topicMetadata }) => topicMetadata.map(({ topic }) => topic)),
  };
}

interface AskedAddress {
  readonly address: string;
  readonly answer: Answer;
  /** Whether any address that counts lets the consumer in. */
  readonly isLetIn: boolean;
}

function brokerFinding(kafka: KafkaSettings, { address, answer, isLetIn }: AskedAddress): Finding {
  const subject = { area: 'Kafka', check: 'broker', name: address } as const;
  if ('metadata' in answer) {
    const { length } = answer.metadata.brokers;
    const cluster = `its cluster has ${length === 1 ? '1 broker' : `${length} brokers`}`;
    return ok(subject, `answers; ${kafka.brokers.includes(address) ? cluster : 'it is advertised by the others'}`);
  }
  if ('failure' in answer) {
    return away(subject, {
      message: answer.failure,
      mend: 'check kafka.brokers, advertised.listeners of the brokers, and the network between; the consumer waits for it',
    });
  }
  const { refusal } = answer;
  if (refusal.code === 'KAFKA_LOGIN_REFUSED') {
    return ok(subject, 'answers, and refuses the login');
  }
  return refusedLogin(kafka, subject, refusal, isLetIn);
}

/** As long as another broker lets the consumer in, a refusal is an outage of one broker. */
function refusedLogin(kafka: KafkaSettings, subject: Subject, refusal: LoginRefusal, isLetIn: boolean): Finding {
  const { credentialsFrom } = kafka;
  const isOfCredentials = credentialsFrom !== undefined && refusal.code !== 'KAFKA_TLS_MISMATCH';
  const origin = isOfCredentials ? `; the credentials are those of ${credentialsFrom}` : '';
  const said: Said = { message: refusal.words, code: refusal.code, mend: `${refusal.remedy}${origin}` };
  return isLetIn
    ? warning(subject, {
        ...said,
        message: `${refusal.words}. The others let the consumer in, and it goes on with them`,
      })
    : wrong(subject, said);
}

function loginFinding(kafka: KafkaSettings, answers: readonly Answer[], isLetIn: boolean): Finding {
  const subject = { area: 'Kafka', check: 'login', name: '' } as const;
  const refusing = answers.flatMap((answer) =>
    'refusal' in answer && answer.refusal.code === 'KAFKA_LOGIN_REFUSED' ? [answer.refusal] : [],
  );
  const [refusal] = refusing;
  if (refusal !== undefined) {
    return refusedLogin(kafka, subject, refusal, isLetIn);
  }
  return isLetIn ? ok(subject, loginWords(kafka)) : skipped(subject, 'no broker asked for it');
}

function loginWords({ sasl, tls, ssl }: KafkaSettings): string {
  const encryption = ssl ? 'TLS' : 'no TLS';
  if (sasl !== undefined) {
    return `accepted${sasl.username === undefined ? '' : ` as ${sasl.username}`}, by ${sasl.mechanism}, ${encryption}`;
  }
  return tls?.certificate === undefined
    ? `none is needed (kafka.sasl is not set), ${encryption}`
    : `accepted by the certificate of kafka.tls, ${encryption}`;
}
