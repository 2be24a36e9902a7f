export interface WebhookMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Sends one message. */
export abstract class WebhookSender {
  /**
   * @returns the HTTP status of the response
   * @throws Error when there is no response in time, or the address is not allowed
   */
  abstract send(message: WebhookMessage): Promise<number>;

  /** @throws DomainError INVALID_INPUT for a URL to which nothing may be sent */
  abstract check(url: string): void;
}
