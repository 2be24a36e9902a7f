import 'reflect-metadata';

/** A DTO class, or the media type of a body that is not JSON. */
export type AnswerType = (new () => object) | string;

/** One successful response of a route. */
export interface Answer {
  readonly status: number;
  readonly type: AnswerType;
  readonly array: boolean;
  /** Only of a dry run, in place of the usual plan. */
  readonly isPlan?: boolean;
  /** Those that mean something to a client. */
  readonly headers: readonly AnswerHeader[];
}

/** The headers of responses that the API document describes. */
export type AnswerHeader =
  | 'content-disposition'
  | 'etag'
  | 'last-modified'
  | 'svc-checkpoint'
  | 'svc-cursor'
  | 'svc-gap'
  | 'svc-partial'
  | 'svc-since'
  | 'svc-taken-at';

export interface RouteDescription {
  readonly summary: string;
  readonly answers: readonly Answer[];
}

const DESCRIPTION = 'headgate:route';

export const answer = (status: number, type: AnswerType, ...headers: AnswerHeader[]): Answer => ({
  status,
  type,
  array: false,
  headers,
});
export const answerList = (status: number, type: AnswerType, ...headers: AnswerHeader[]): Answer => ({
  ...answer(status, type, ...headers),
  array: true,
});

/** The response to a dry run that has a plan of its own kind. */
export const planAnswer = (status: number, type: AnswerType): Answer => ({ ...answer(status, type), isPlan: true });

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
