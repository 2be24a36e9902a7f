export class FitAddon {
  fit = (): void => undefined;
}
