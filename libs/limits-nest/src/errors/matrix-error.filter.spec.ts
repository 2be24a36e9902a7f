import { RateExceeded } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import {
  type ArgumentsHost,
  BadRequestException,
  Body,
  Controller,
  Get,
  Header,
  HttpException,
  NotFoundException,
  Post,
  Res,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { nodeResponse } from '../http/http-route.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { MatrixErrorFilter } from './matrix-error.filter.js';
import { toMatrixError } from './to-matrix-error.js';

@Controller()
class Routes {
  @Post('echo')
  echo(@Body() body: object) {
    return body;
  }

  @Get('broken')
  broken() {
    throw new Error('the secret of the store');
  }

  @Get('slow-down')
  @Header('Access-Control-Expose-Headers', 'X-Page')
  slowDown() {
    throw new RateExceeded({ rate: 'ring', retryAfterMs: 1 });
  }

  @Get('half')
  half(@Res() reply: { raw?: ServerResponse; hijack?: () => void }) {
    reply.hijack?.();
    nodeResponse(reply).write('half of it');
    throw new Error('the other half is missing');
  }
}

describe.each(PLATFORMS)('MatrixErrorFilter on %s', (platform) => {
  let app: TestApp;
  beforeEach(async () => {
    app = await TestApp.start(platform, { controllers: [Routes] });
  });
  afterEach(() => app.close());

  test.each([
    ['GET', '/nowhere', undefined, 404, 'M_UNRECOGNIZED'],
    ['POST', '/echo', '{"user":', 400, 'M_NOT_JSON'],
    ['POST', '/echo', JSON.stringify({ text: 'x'.repeat(2_000_000) }), 413, 'M_TOO_LARGE'],
  ])('%s %s answers with a Matrix error', async (method, path, body, status, errcode) => {
    const answer = await app.send(method, path, { body });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ errcode, error: expect.any(String) });
  });

  test('does not expose internal errors', async () => {
    const answer = await app.send('GET', '/broken');
    expect(answer.body).toEqual({ errcode: 'M_UNKNOWN', error: 'Something went wrong on this server.' });
  });

  test('exposes Retry-After to browsers in addition to the headers that a route exposes', async () => {
    const { headers } = await app.send('GET', '/slow-down');
    expect(headers).toMatchObject({ 'retry-after': '1', 'access-control-expose-headers': 'X-Page, Retry-After' });
  });

  test('closes the connection if part of the response was sent', async () => {
    await expect(app.send('GET', '/half')).rejects.toThrow();
    expect((await app.send('POST', '/echo', { body: {} })).status).toBe(201);
  });
});

describe('toMatrixError', () => {
  test('lists the findings of a validation', () => {
    const error = toMatrixError(new BadRequestException(['user must be a string', 'limit must be positive']));
    expect(error.body()).toEqual({ errcode: 'M_BAD_JSON', error: 'user must be a string; limit must be positive' });
  });

  test('keeps the status of foreign errors, and their message if the caller caused them', () => {
    expect(toMatrixError(new HttpException('Slow down.', 429))).toMatchObject({ errcode: 'M_LIMIT_EXCEEDED' });
    expect(toMatrixError(Object.assign(new Error('gone'), { statusCode: 410 })).body()).toEqual({
      errcode: 'M_UNKNOWN',
      error: 'gone',
    });
    expect(toMatrixError('thrown text')).toMatchObject({ status: 500, errcode: 'M_UNKNOWN' });
  });

  test('keeps the status, message and additional members of exceptions that the application throws', () => {
    expect(toMatrixError(new NotFoundException('There is no such pusher.')).body()).toEqual({
      errcode: 'M_NOT_FOUND',
      error: 'There is no such pusher.',
    });
    expect(toMatrixError(new ServiceUnavailableException('Back at noon.'))).toMatchObject({
      status: 503,
      message: 'Back at noon.',
    });
    const own = new HttpException({ errcode: 'M_CUSTOM', error: 'Custom.', retry_after_ms: 5, soft_logout: true }, 401);
    expect(toMatrixError(own).body()).toEqual({
      errcode: 'M_CUSTOM',
      error: 'Custom.',
      retry_after_ms: 5,
      soft_logout: true,
    });
    const conflict = new HttpException({ message: 'Conflict.', statusCode: 409, current: 'b' }, 409);
    expect(toMatrixError(conflict).body()).toEqual({ errcode: 'M_UNKNOWN', error: 'Conflict.', current: 'b' });
    expect(toMatrixError(new NotFoundException('Cannot GET /nowhere'))).toMatchObject({ errcode: 'M_UNRECOGNIZED' });
  });

  test('returns a Matrix error unchanged', () => {
    const error = MatrixError.forbidden('No.');
    expect(toMatrixError(error)).toBe(error);
  });
});

test.each(['ws', 'graphql'])('MatrixErrorFilter rethrows errors of a %s context', (kind) => {
  const error = new RateExceeded({ rate: 'ring', retryAfterMs: 1 });
  const host = { getType: () => kind } as ArgumentsHost;
  expect(() => new MatrixErrorFilter().catch(error, host)).toThrow(error);
});
