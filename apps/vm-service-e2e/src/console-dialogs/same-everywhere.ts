import type { Api } from '../api.js';

/** Names of products, formats and keys, units and terms. */
export const SAME_EVERYWHERE =
  /^(Headgate|English|Deutsch|DE|curl|ntfy|YAML|Terraform|Kubeconfig|bootc|ISO|IP|URL|CPUs?|VMs?|NICs|[\d.,]+ ?([KMGT]?i?B?(\/s)?|CPUs?|s|min|h|%)|[KMGT]iB|\d+ CPUs, [\d.,]+ [KMGT]iB|(Ctrl|Alt|Shift)(\+\w+)+|Esc|Super \(Windows|Print Screen)$/;

/** Sentences that the page shows where its own may be instead, such as the reason of a button. */
export async function serviceSentences(api: Api): Promise<ReadonlySet<string>> {
  const sentences = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string' && /\s.*\.$/.test(value)) sentences.add(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  for (const path of ['/api/capabilities', '/api/ext/storage']) collect((await api.send('GET', path)).body);
  return sentences;
}
