import 'reflect-metadata';

/** A DTO class, or the media type of a body that is not JSON. */
export type AnswerType = (new () => object) | string;

/** One successful response of a route. */
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

/** Describes a route and its responses for the API document. */
export const Describe =
  (summary: string, ...answers: Answer[]): MethodDecorator =>
  (_target, _key, descriptor) =>
    Reflect.defineMetadata(DESCRIPTION, { summary, answers } satisfies RouteDescription, descriptor.value as object);

export const descriptionOf = (handler: object): RouteDescription | undefined =>
  Reflect.getMetadata(DESCRIPTION, handler) as RouteDescription | undefined;

const UPLOAD = 'headgate:upload';

/** Describes a route whose body is either JSON, of this class, or the bytes of a file. */
export const AcceptsUpload =
  (json: new () => object): MethodDecorator =>
  (_target, _key, descriptor) =>
    Reflect.defineMetadata(UPLOAD, json, descriptor.value as object);

export const uploadBodyOf = (handler: object): (new () => object) | undefined =>
  Reflect.getMetadata(UPLOAD, handler) as (new () => object) | undefined;
