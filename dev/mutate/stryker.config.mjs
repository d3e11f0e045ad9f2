/** One run of the tests for each mutant of the core; see dev/mutate.ts. */
export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { projectType: 'custom', configFile: 'dev/mutate/jest.config.mjs', enableFindRelatedTests: true },
  coverageAnalysis: 'perTest',
  mutate: ['app/kafka/fetch/**/*.ts', 'app/records/**/*.ts', 'app/store/**/*.ts', 'app/stream/**/*.ts'],
  // A message is read by people: a test of its every word would only repeat it.
  mutator: { excludedMutations: ['StringLiteral'] },
  // TypeScript 7 has no interface in JavaScript, by which Stryker reads a tsconfig.json: a name that no file has keeps it from trying.
  tsconfigFile: 'none.json',
  disableTypeChecks: false,
  ignorePatterns: ['build', 'dist'],
  tempDirName: 'build/mutation/sandbox',
  jsonReporter: { fileName: 'build/mutation/report.json' },
  reporters: ['json', 'progress-append-only'],
  concurrency: 2,
  timeoutMS: 20_000,
  // All tests once, each line counted: longer than Stryker's own five minutes on a slow machine.
  dryRunTimeoutMinutes: 20,
  allowEmpty: true,
};
