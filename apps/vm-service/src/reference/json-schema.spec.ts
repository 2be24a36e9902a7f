import 'reflect-metadata';
import { PinningDto, PlacementView } from '@headgate/api-contracts';
import { schemaOf } from './json-schema.js';

describe('the JSON schema of a DTO', () => {
  test('lets a nested object be null where the field can be', () => {
    expect(schemaOf(PinningDto)).toMatchObject({
      properties: { memory: { anyOf: [{ $ref: '#/components/schemas/MemoryNodesDto' }, { type: 'null' }] } },
      required: [],
    });
    expect(schemaOf(PlacementView)).toMatchObject({
      properties: { hugepages: { type: ['string', 'null'] } },
      required: ['dedicated', 'pinning', 'hugepages'],
    });
  });
});
