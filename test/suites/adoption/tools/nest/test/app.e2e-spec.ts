import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { lameduck, type Lameduck } from 'lameduck';
import request from 'supertest';
import { AppModule } from '../src/app.module';

describe('AppController (e2e)', () => {
  let app: INestApplication;
  let duck: Lameduck;

  beforeEach(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    duck = lameduck(app.getHttpServer());
    await app.init();
  });

  afterEach(async () => {
    await app.close();
  });

  it('with lameduck, the application still responds to GET / with the text of its controller', () =>
    request(app.getHttpServer()).get('/').expect(200).expect('hello'));

  it('duck.shutdown() drains the application and resolves with the exit code 0', async () => {
    await app.listen(0);
    await duck.signals.hasBeenReady.signaled;
    await request(await app.getUrl())
      .get('/readyz')
      .expect(200);
    expect((await duck.shutdown('end of the test')).exitCode).toBe(0);
  });
});
