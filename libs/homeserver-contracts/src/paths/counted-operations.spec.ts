import { CountedPaths } from './counted-operations.js';

const paths = new CountedPaths();
const CLIENT = '/_matrix/client';

describe('CountedPaths', () => {
  test.each([
    ['POST', `${CLIENT}/v3/register/email/requestToken`, 'requestEmailToken'],
    ['POST', `${CLIENT}/r0/register/msisdn/requestToken`, 'requestPhoneToken'],
    ['POST', `${CLIENT}/unstable/account/password/email/requestToken`, 'requestEmailToken'],
    ['POST', `${CLIENT}/v3/account/password/msisdn/requestToken`, 'requestPhoneToken'],
    ['POST', `${CLIENT}/v3/account/3pid/email/requestToken?a=b`, 'requestEmailToken'],
    ['POST', `${CLIENT}/r0/account/3pid/msisdn/requestToken`, 'requestPhoneToken'],
    ['GET', `${CLIENT}/v3/register/available?username=a`, 'registerAvailable'],
    ['GET', `${CLIENT}/v1/media/download/b.example/id`, 'download'],
    ['GET', `${CLIENT}/v1/media/download/b.example/id/a.png`, 'download'],
    ['GET', `${CLIENT}/unstable/org.matrix.msc3916/media/thumbnail/b.example/id`, 'download'],
    ['GET', '/_matrix/media/v3/download/b.example/id', 'legacyDownload'],
    ['GET', '/_matrix/media/r0/thumbnail/b.example/id?width=9', 'legacyDownload'],
    ['GET', '/_matrix/media/v1/download/b.example/id/a%2fb.png', 'legacyDownload'],
    ['POST', `${CLIENT}/v3/keys/query`, 'queryKeys'],
    ['POST', `${CLIENT}/unstable/keys/claim`, 'claimKeys'],
    ['POST', `${CLIENT}/unstable/org.matrix.msc3983/keys/claim`, 'claimKeys'],
    ['POST', `${CLIENT}/r0/user_directory/search`, 'searchUsers'],
    ['POST', `${CLIENT}/unstable/org.matrix.msc4108/rendezvous`, 'rendezvous'],
    ['POST', `${CLIENT}/unstable/org.matrix.msc3886/rendezvous`, 'rendezvous'],
    ['PUT', `${CLIENT}/unstable/io.element.msc4388/rendezvous/id`, 'rendezvous'],
    ['PUT', '/_synapse/client/rendezvous/id', 'rendezvous'],
    ['GET', '/_synapse/client/rendezvous/id', undefined],
    ['POST', '/login', 'authLogin'],
    ['POST', '/login?kind=continue_authorization_grant&id=01', 'authLogin'],
    ['GET', '/login', undefined],
    ['POST', `${CLIENT}/v3/login`, undefined],
    ['POST', '/register/password', 'authRegistration'],
    ['POST', '/register/steps/01ABC/verify-email', 'authRegistration'],
    ['POST', '/recover', 'authRecovery'],
    ['POST', '/recover/progress/01ABC', 'authRecovery'],
    ['POST', '/graphql', 'authApi'],
    ['POST', '/oauth2/token', 'oauthToken'],
    ['POST', '/oauth2/registration', 'oauthClient'],
    ['POST', '/oauth2/device', 'deviceCode'],
    ['GET', '/link?code=ABCDEF', 'deviceLink'],
    ['GET', '/oauth2/keys.json', undefined],
    ['POST', '/%6cogin', 'authLogin'],
    ['POST', '/login/', 'authLogin'],
    ['POST', '//login', 'authLogin'],
    ['OPTIONS', `${CLIENT}/v3/keys/query`, undefined],
    ['POST', `${CLIENT}/v3/keys/upload`, undefined],
    ['GET', `${CLIENT}/v3/sync`, undefined],
  ])('%s %s is %s', (method, target, operation) => expect(paths.of(method, target)).toBe(operation));

  test.each([
    `${CLIENT}/v3/keys/query/`,
    `${CLIENT}//v3/keys//query`,
    `${CLIENT}/v3/keys%2Fquery`,
    `${CLIENT}/v3/keys%252fquery`,
    `${CLIENT}/v3/%6beys/query`,
    `${CLIENT}/v3/keys/query%3fa`,
    `${CLIENT}/v3/keys/query%23`,
    `/%5fmatrix/client/v3/keys/query`,
  ])('%s counts as what any server may read in it', (target) => expect(paths.of('POST', target)).toBe('queryKeys'));
});
