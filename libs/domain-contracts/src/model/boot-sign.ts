/** The first sign that a guest is up. */
export type BootSign =
  | { readonly kind: 'agent' }
  /** @property text the line with the prompt, at most 200 characters, as the guest has printed it */
  | { readonly kind: 'prompt'; readonly text: string }
  /** @property output the beginning of its output, at most 2000 characters */
  | { readonly kind: 'command'; readonly exitCode: number; readonly output: string };
