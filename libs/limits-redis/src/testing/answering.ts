/** Waits until each has its connection. */
export async function answering(...nodes: readonly { ping(): Promise<void> }[]): Promise<void> {
  for (const node of nodes) {
    for (let tries = 0; ; tries++) {
      const up = await node.ping().then(
        () => true,
        () => false,
      );
      if (up) break;
      if (tries === 500) throw new Error('The server was not reached within 500 tries.');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
