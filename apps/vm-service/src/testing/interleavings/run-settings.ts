/** How many stories the process of the tests runs, by the name of an environment variable. */
export function runSettings(variable: string, defaultRuns: number) {
  const { env } = process;
  return {
    runs: Number(env[variable] ?? defaultRuns),
    /** A failure prints its seed and its path, which repeat it. */
    seed: Number(env['HEADGATE_TEST_INTERLEAVING_SEED'] ?? 66),
    path: env['HEADGATE_TEST_INTERLEAVING_PATH'],
  };
}
