import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';

@Injectable()
class Database implements OnModuleDestroy {
  onModuleDestroy(): void {
    console.log('pool closed'); // close pools here: the last response has been sent
  }
}

@Controller()
class AppController {
  @Get()
  hello(): string {
    return 'hello\n';
  }

  @Get('slow')
  async slow(): Promise<string> {
    await sleep(200);
    return 'slow\n';
  }
}

@Module({ controllers: [AppController], providers: [Database] })
export class AppModule {}
