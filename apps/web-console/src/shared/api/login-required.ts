/** Whether the service has answered a request with "Log in first". */
class LoginRequired {
  private isRequired = false;
  private readonly listeners = new Set<() => void>();

  readonly current = (): boolean => this.isRequired;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  set(isRequired: boolean): void {
    if (this.isRequired === isRequired) return;
    this.isRequired = isRequired;
    for (const listener of [...this.listeners]) listener();
  }
}

export const loginRequired = new LoginRequired();
