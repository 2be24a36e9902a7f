import 'reflect-metadata';

/** A DTO class, or the media type of what is not JSON. */
export type AnswerType = (new () => object) | string;

/** One answer that a route gives when all goes well. */
export interface Answer {
  readonly status: number;
  readonly type: AnswerType;
  readonly array: boolean;
}

export interface RouteDescription {
  readonly summary: string;
  readonly answers: readonly Answer[];
}

const DESCRIPTION = 'headgate:route';

export const answer = (status: number, type: AnswerType): Answer => ({ status, type, array: false });
export const answerList = (status: number, type: AnswerType): Answer => ({ status, type, array: true });

/** Says what a route does and what it answers; the API document is printed from it. */
export const Describe =
  (summary: string, ...answers: Answer[]): MethodDecorator =>
  (_target, _key, descriptor) =>
    Reflect.defineMetadata(DESCRIPTION, { summary, answers } satisfies RouteDescription, descriptor.value as object);

export const descriptionOf = (handler: object): RouteDescription | undefined =>
  Reflect.getMetadata(DESCRIPTION, handler) as RouteDescription | undefined;
