/** A program that this one has run ended with an error, which it has shown itself: its exit code is passed on. */
export class ProgramEnded extends Error {
  override readonly name = 'ProgramEnded';

  constructor(readonly exitCode: number) {
    super(`The program ended with ${exitCode}.`);
  }
}
