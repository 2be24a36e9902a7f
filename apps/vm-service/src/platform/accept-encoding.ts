/**
 * Whether a client accepts a content coding, by its `Accept-Encoding`. A weight of 0 refuses one. Source: RFC 9110,
 * 12.5.3.
 */
export function acceptsEncoding(header: string | string[] | undefined, coding: string): boolean {
  const weights = new Map(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='));
        return [name, weight === undefined ? 1 : Number(weight.slice(2))] as const;
      }),
  );
  return (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
}
