import { ConsoleQuery, ErrorView, InstancePath } from '@headgate/api-contracts';
import type { OpenAPIObject } from '@nestjs/swagger';
import { referenceTo, schemaOf, type DtoClass, type JsonSchema } from './json-schema.js';
import type { ClassDescription } from './read-descriptions.js';

type Descriptions = ReadonlyMap<string, ClassDescription>;
type Paths = OpenAPIObject['paths'];
type Operation = NonNullable<Paths[string]['get']>;

const FRAMES =
  'Frames are binary; the subprotocol `binary` is accepted when offered. A console that can not be opened is refused before the upgrade, with the usual error body.';

/** The sockets of the consoles, which are gateways and no routes of a controller. */
export const consolePaths = (descriptions: Descriptions): Paths => ({
  '/api/vnc/{ns}/{name}': {
    get: console(descriptions, {
      operationId: 'Consoles.vnc',
      summary: 'Opens the graphical console of a VM.',
      description: `Upgrades to a WebSocket that carries RFB 3.7 or 3.8, the protocol of VNC. ${FRAMES}`,
    }),
  },
  '/api/tty/{ns}/{name}': {
    get: console(descriptions, {
      operationId: 'Consoles.tty',
      summary: 'Opens the serial console of a VM, or a shell in a container.',
      description: `Upgrades to a WebSocket that carries the bytes of the terminal. ${FRAMES} To a shell, a text frame with {"resize": {"columns": 80, "rows": 24}} sets the size of its window.`,
    }),
  },
});

function console(
  descriptions: Descriptions,
  texts: { readonly operationId: string; readonly summary: string; readonly description: string },
): Operation {
  const failure = { 'application/json': { schema: referenceTo(ErrorView) } };
  return {
    ...texts,
    tags: ['Consoles'],
    parameters: [
      ...parameters('path', InstancePath, descriptions),
      ...parameters('query', ConsoleQuery, descriptions),
    ] as NonNullable<Operation['parameters']>,
    responses: {
      101: { description: 'The connection is a WebSocket from here on.' },
      '4XX': { description: 'The request is wrong or refused.', content: failure },
      '5XX': { description: 'A backend, or the service itself, failed.', content: failure },
    },
  };
}

/** The fields of a DTO class as parameters. */
function parameters(place: 'path' | 'query', type: DtoClass, descriptions: Descriptions): object[] {
  const { properties, required } = schemaOf(type, descriptions.get(type.name));
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: (required as string[]).includes(name),
    description,
    schema,
  }));
}
