import type { Readable } from 'node:stream';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { everything, sharedData } from '@headgate/access';
import {
  ChangeQuery,
  EmptyBody,
  ImageAcceptedView,
  ImportedImageView,
  ImportImageDto,
  InstancePath,
  StatusView,
  UploadQuery,
  type PlanView,
} from '@headgate/api-contracts';
import { DomainError, type ImageRef } from '@headgate/domain-contracts';
import { DeleteImage, discard, hasImages, ImportImage, UploadImage, Uploads, type UploadPart } from '@headgate/images';
import type { FastifyReply } from 'fastify';
import { QueryBackends } from '../fleet/query-backends.js';
import { Needs } from '../platform/needs.decorator.js';
import { AcceptsUpload, answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { ImageBody, type ImageContent } from './image-body.js';
import { presentImports } from './present-imports.js';

/** Imported images. */
@Controller('api/datavolumes')
export class DataVolumesController {
  constructor(
    private readonly backends: QueryBackends,
    private readonly uploads: Uploads,
    private readonly importImage: ImportImage,
    private readonly uploadImage: UploadImage,
    private readonly deleteImage: DeleteImage,
  ) {}

  @Needs(sharedData)
  @Get()
  @Describe(
    'The imported images, and the imports and uploads that run.',
    answerList(200, ImportedImageView, 'svc-partial'),
  )
  async list(@Res({ passthrough: true }) reply: FastifyReply): Promise<ImportedImageView[]> {
    const uploads = this.uploads.all();
    return this.backends.list(reply, async (backend) => {
      const images = hasImages(backend) ? await backend.require('images').list() : [];
      return presentImports(
        backend,
        images,
        uploads.filter(({ request }) => request.ref.context === backend.context),
      );
    });
  }

  @Needs(everything('create'))
  @Post()
  @Describe(
    'Imports an image from a URL, or receives a part of its file. The last part begins the import.',
    answer(200, ImageAcceptedView),
  )
  @AcceptsUpload(ImportImageDto)
  @HttpCode(200)
  async create(
    @ImageBody() { json, file }: ImageContent,
    @Query() query: UploadQuery,
    @Changing() request: ChangeRequest,
  ): Promise<ImageAcceptedView | PlanView> {
    if (file) {
      return request.answer(query, this.uploadImage, [partOf(query, file)], ({ ref, task, offset }) => ({
        ...presentRef(ref),
        task,
        offset,
      }));
    }
    const body = { ...json, context: json.context ?? query.context };
    return request.answer(query, this.importImage, [body], ({ ref, task }) => ({ ...presentRef(ref), task }));
  }

  @Needs(everything('delete'))
  @Delete(':ns/:name')
  @Describe('Deletes an image that no VM needs, or cancels its import or upload.', answer(200, StatusView))
  delete(
    @Param() { ns, name }: InstancePath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    const image = { namespace: ns, name, context: query.context };
    return request.answer(query, this.deleteImage, [image], () => ({ status: 'deleted' }));
  }
}

/** @throws DomainError INVALID_INPUT */
function partOf({ name, bytes, offset = '0', ...query }: UploadQuery, body: Readable): UploadPart {
  if (name === undefined || bytes === undefined || bytes === '0') {
    discard(body);
    throw new DomainError(
      'INVALID_INPUT',
      'The query must have name (the name of the image) and bytes (the length of the whole file).',
    );
  }
  const { namespace, context, size, version, checksum } = query;
  return { name, namespace, context, size, version, checksum, fileBytes: Number(bytes), offset: Number(offset), body };
}

const presentRef = ({ name, namespace, context }: ImageRef) => ({ name, namespace, context });
