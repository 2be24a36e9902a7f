import { IsArray, IsString } from 'class-validator';
import { Nested } from './fields.js';

class Part {
  @IsString() name!: string;
}

test('an array of nested objects is declared as one', () => {
  expect(() => {
    class Whole {
      @IsArray() @Nested(() => Part) parts!: Part[];
    }
    return Whole;
  }).toThrow('parts is an array, so it needs @Nested with { each: true }.');
  expect(() => {
    class Whole {
      @IsArray() @Nested(() => Part, { each: true }) parts!: Part[];
      @Nested(() => Part) part!: Part;
    }
    return Whole;
  }).not.toThrow();
});
