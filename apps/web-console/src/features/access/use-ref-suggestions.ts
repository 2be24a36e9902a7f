import { useContainers, useFleet } from '../../shared/fleet/fleet-provider.js';

/** A browser shows a few; a long list would make typing slow. */
const MAX_SUGGESTIONS = 50;
const SEPARATOR = '\n';

/** The refs of instances that contain a text. As one text, so that a change of another instance renders nothing. */
export function useRefSuggestions(text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  const refsIn = (entries: readonly { readonly ref: string }[]): string => {
    const found: string[] = [];
    for (const { ref } of entries) {
      if (found.length === MAX_SUGGESTIONS) break;
      if (ref.includes(wanted)) found.push(ref);
    }
    return found.join(SEPARATOR);
  };
  const machines = useFleet(({ entries }) => refsIn(entries));
  const containers = useContainers(({ entries }) => refsIn(entries));
  return [machines, containers].flatMap((refs) => (refs === '' ? [] : refs.split(SEPARATOR)));
}
