// Pipes a WebSocket to a socket, for comparison with a console. Prints its port; exits when its standard input closes.
import { connect } from 'node:net';
import { WebSocketServer } from 'ws';

const HIGH = 1_048_576;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (client) => {
  const source = connect(process.argv[2]);
  source.on('data', (data) => {
    client.send(data, { binary: true }, () => {
      if (client.bufferedAmount <= HIGH / 2) source.resume();
    });
    if (client.bufferedAmount > HIGH) source.pause();
  });
  source.on('error', () => undefined);
  client.on('message', (data) => source.write(data));
  client.on('close', () => source.destroy());
});
server.on('listening', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().once('end', () => process.exit(0));
