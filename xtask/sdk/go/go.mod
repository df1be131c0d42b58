module lendpay.example/program

go 1.19
