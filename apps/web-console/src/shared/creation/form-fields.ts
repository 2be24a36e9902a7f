/** The fields that identify a new instance, as the user typed them. */
export interface Identity {
  readonly name: string;
  readonly namespace: string;
  readonly context: string;
}

/** The fields for the size of a new instance, as the user typed them. */
export interface Sizes {
  readonly cpu: string;
  readonly mem: string;
  readonly disk: string;
}
