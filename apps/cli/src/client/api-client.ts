import type { PathOf, ResponseOf, RouteOptions } from '@headgate/api-routes';
import type { HttpClient, JsonAnswer, SendOptions } from './http-client.js';

type Method = 'get' | 'post' | 'patch' | 'delete';

/** The routes of the API document, with the types that they have there. */
export class ApiClient {
  constructor(readonly http: HttpClient) {}

  readonly get = this.route<'get'>('GET');
  readonly post = this.route<'post'>('POST');
  readonly patch = this.route<'patch'>('PATCH');
  readonly delete = this.route<'delete'>('DELETE');

  /** A GET whose headers are needed, such as those of a list. */
  getAnswer<P extends PathOf<'get'>>(
    path: P,
    options?: RouteOptions<P, 'get'>,
  ): Promise<JsonAnswer<ResponseOf<P, 'get', object>>> {
    return this.http.json('GET', path, options as SendOptions);
  }

  private route<M extends Method>(method: string) {
    return async <P extends PathOf<M>, const O extends RouteOptions<P, M>>(
      path: P,
      options?: O,
    ): Promise<ResponseOf<P, M, O>> => {
      const { body } = await this.http.json<ResponseOf<P, M, O>>(method, path, options as SendOptions);
      return body;
    };
  }
}
