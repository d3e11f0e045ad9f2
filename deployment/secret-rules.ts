import type { Rule } from '../settings/check.ts';
import type { Problem } from '../settings/problem.ts';
import type { ConsumerFile } from './consumer-file.ts';
import type { SecretSource } from './secrets.ts';

const problems = (isWrong: boolean, problem: Problem): Problem[] => (isWrong ? [problem] : []);

const twoSources = (path: string, source: SecretSource | undefined): Problem[] =>
  problems(source?.externalSecret !== undefined && source.sealedSecret !== undefined, {
    path,
    message: 'has two that make one Secret, externalSecret and sealedSecret',
    allowed: 'one of both, or neither: then the Secret is there already',
  });

const secretHasOneSource: Rule<ConsumerFile> = {
  reads: ['database', 'kafka'],
  find: ({ database, kafka }) => [
    ...twoSources('database', database),
    ...twoSources('database.owner', database.owner),
    ...twoSources('kafka', kafka),
  ],
};

const jobHasOwner: Rule<ConsumerFile> = {
  reads: ['database'],
  find: ({ database: { migrate, owner } }) => [
    ...problems(migrate === 'job' && owner === undefined, {
      path: 'database.owner.existingSecret',
      message: 'is missing, and the Job of migrate: job has to log in as somebody',
      allowed: 'the name of a Secret with the keys url, user and password (database.owner.keys renames them)',
    }),
    ...problems(migrate !== 'job' && owner !== undefined, {
      path: 'database.owner',
      message: `is used by nobody with migrate: ${migrate}`,
      allowed: 'nothing, or migrate: job',
    }),
  ],
};

const secretsDiffer: Rule<ConsumerFile> = {
  reads: ['database', 'kafka'],
  find: ({ database, kafka }) => {
    const made = [database, database.owner, kafka].filter(
      (each) => (each?.externalSecret ?? each?.sealedSecret) !== undefined,
    );
    const names = made.map((each) => each?.existingSecret);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return problems(twice !== undefined, {
      path: 'database.existingSecret',
      message: 'is the name of a Secret that is made twice',
      given: twice,
      allowed: 'a name of its own for each Secret that externalSecret or sealedSecret makes',
    });
  },
};

/** What must hold for Secrets, and for who makes them. */
export const SECRET_RULES: readonly Rule<ConsumerFile>[] = [secretHasOneSource, jobHasOwner, secretsDiffer];
