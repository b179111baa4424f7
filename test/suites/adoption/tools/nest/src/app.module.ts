import { Controller, Get, Module } from '@nestjs/common';

@Controller()
export class AppController {
  @Get()
  get(): string {
    return 'hello';
  }
}

@Module({ controllers: [AppController] })
export class AppModule {}
