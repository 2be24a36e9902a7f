import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { everything, sharedData } from '@headgate/access';
import {
  CatalogEntryView,
  ChangeQuery,
  CustomSourceDto,
  EmptyBody,
  SourceAddedView,
  SourcePath,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { AddSource, CatalogWithSources, RemoveSource } from '@headgate/images';
import { Needs } from '../platform/needs.decorator.js';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { presentImage } from './present-image.js';

@Controller('api/sources')
export class SourcesController {
  constructor(
    private readonly catalog: CatalogWithSources,
    private readonly addSource: AddSource,
    private readonly removeSource: RemoveSource,
  ) {}

  @Needs(sharedData)
  @Get()
  @Describe('The images that users have added to the catalog.', answerList(200, CatalogEntryView))
  list(): CatalogEntryView[] {
    return this.catalog.custom().map(presentImage);
  }

  @Needs(everything('manage'))
  @Post()
  @Describe('Adds an image to the catalog, or replaces the one of the same name.', answer(200, SourceAddedView))
  @HttpCode(200)
  add(
    @Body() { name, kind, uri, description = '' }: CustomSourceDto,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<SourceAddedView | PlanView> {
    const source = { name, kind, uri, description };
    return request.answer(query, this.addSource, [source], () => ({ status: 'ok', name }));
  }

  @Needs(everything('manage'))
  @Delete(':name')
  @Describe('Removes an image that a user has added. VMs that were created from it stay.', answer(200, StatusView))
  remove(
    @Param() { name }: SourcePath,
    @Body() _body: EmptyBody,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.removeSource, [name], () => ({ status: 'removed' }));
  }
}
