/** Waits until each client is connected. */
export async function waitUntilReachable(...clients: readonly { ping(): Promise<void> }[]): Promise<void> {
  for (const client of clients) {
    for (let attempts = 0; ; attempts++) {
      const reachable = await client.ping().then(
        () => true,
        () => false,
      );
      if (reachable) break;
      if (attempts === 500) throw new Error('The server was not reachable after 500 attempts.');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
