import { Readable } from 'node:stream';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ImportImageDto } from '@headgate/api-contracts';
import type { FastifyRequest } from 'fastify';
import { WireValidationPipe } from '../platform/wire-validation.pipe.js';

/** The body of a request for a new image: where to download it, or a part of its file. */
export type ImageContent =
  { readonly json: ImportImageDto; readonly file?: undefined } | { readonly json?: undefined; readonly file: Readable };

const pipe = new WireValidationPipe();

/** Injects the validated body. */
export const ImageBody = createParamDecorator(
  async (_data: unknown, context: ExecutionContext): Promise<ImageContent> => {
    const { body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body instanceof Readable) return { file: body };
    return { json: (await pipe.transform(body ?? {}, { type: 'body', metatype: ImportImageDto })) as ImportImageDto };
  },
);
