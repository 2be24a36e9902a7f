/** The headers of kube-adapter, so that a comparison gets the same answers; a test of kube-adapter checks them. */
export const CLIENT_HEADERS = { Accept: 'application/json, */*', 'User-Agent': 'headgate' } as const;
