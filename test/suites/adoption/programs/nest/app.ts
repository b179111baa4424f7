import { setTimeout as sleep } from 'node:timers/promises';
import {
  Controller,
  Get,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';

@Injectable()
class Database implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  async greeting(): Promise<string> {
    return 'hello';
  }

  onModuleDestroy(): void {
    console.log('module destroyed');
  }

  beforeApplicationShutdown(signal?: string): void {
    console.log(`before shutdown by ${signal}`);
  }

  async onApplicationShutdown(): Promise<void> {
    await sleep(50);
    console.log('pool closed');
  }
}

@Controller()
class AppController {
  constructor(private readonly database: Database) {}

  @Get()
  hello(): Promise<string> {
    return this.database.greeting();
  }

  @Get('slow')
  async slow(): Promise<string> {
    await sleep(200);
    return 'slow';
  }
}

@Module({ controllers: [AppController], providers: [Database] })
export class AppModule {}
